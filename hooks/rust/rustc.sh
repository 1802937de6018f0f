#!/bin/sh
# Compiles the hooked copy of a file in place of the file: copies lie below DUET_HOOKED at the paths of what they stand for.
for argument do
    shift
    case $argument in
    /*) if [ -f "$DUET_HOOKED$argument" ]; then argument=$DUET_HOOKED$argument; fi ;;
    esac
    set -- "$@" "$argument"
done
exec ${DUET_RUSTC_WRAPPER:+"$DUET_RUSTC_WRAPPER"} "$@"
