#!/bin/sh
# Links as asked, and keeps below DUET_LINKS what each program was made of: its pieces, numbered, and the arguments, one a line,
# with the pieces at their new names and without the output. The folder has the program's name.
output=
places=
previous=
for argument do
    case $previous:$argument in
    -o:*) output=$argument ;;
    -L:*) places="$places$argument
" ;;
    *:-L?*) places="$places${argument#-L}
" ;;
    esac
    previous=$argument
done
"${DUET_LINKER:-cc}" "$@" || exit
case $output in
*.so | '' | */build_script*-* | */build-script*-*) exit ;;
*/deps/* | */build/*/*/out/*) ;;
*) exit ;;
esac
# The archive that a build script made and the linker finds by this name: the other version's build makes another one at its place.
archive() {
    printf '%s' "$places" | while IFS= read -r place; do
        case $place in
        */build/*/out*) ;;
        *) continue ;;
        esac
        if [ -f "$place/lib$1.a" ]; then
            printf '%s\n' "$place/lib$1.a"
            break
        fi
    done
}

kept=$DUET_LINKS/${output##*/}
rm -rf "$kept"
mkdir -p "$kept" || exit
printf '%s' "${DUET_LINKER:-cc}" >"$kept/linker" || exit
number=0
skipped=
for argument do
    if [ -n "$skipped" ] || [ "$argument" = -o ]; then
        if [ -n "$skipped" ]; then skipped=; else skipped=yes; fi
        continue
    fi
    found=
    case $argument in
    -l?*)
        found=$(archive "${argument#-l}")
        argument=${found:-$argument}
        ;;
    esac
    case $argument in
    *.o | *.rlib | *.a)
        if [ -f "$argument" ]; then
            number=$((number + 1))
            piece=$number-${argument##*/}
            # A build script may write to its archive again.
            { [ -z "$found" ] && ln "$argument" "$kept/$piece" 2>/dev/null; } || cp "$argument" "$kept/$piece" || exit
            argument=$piece
        fi
        ;;
    esac
    printf '%s\n' "$argument" >>"$kept/arguments"
done
