#!/bin/sh
# Compiles the hooked copy of a file in place of the file: copies lie below DUET_HOOKED at the paths of what they stand for. Cargo
# names sources of its workspace by where they are in it, and all others by their whole paths.
for argument do
    shift
    case $argument in
    /*.rs) hooked=$DUET_HOOKED$argument ;;
    *.rs) hooked=$DUET_HOOKED$(pwd -P)/$argument ;;
    *) hooked= ;;
    esac
    if [ -f "$hooked" ]; then argument=$hooked; fi
    set -- "$@" "$argument"
done
exec ${DUET_RUSTC_WRAPPER:+"$DUET_RUSTC_WRAPPER"} "$@"
