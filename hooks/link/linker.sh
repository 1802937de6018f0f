#!/bin/sh
# Links as asked, and keeps below DUET_LINKS what each program was made of: its pieces, numbered, and the arguments, one a line,
# with the pieces at their new names and without the output. The folder has the program's name.
output=
previous=
for argument do
    if [ "$previous" = -o ]; then output=$argument; fi
    previous=$argument
done
"${DUET_LINKER:-cc}" "$@" || exit
case $output in
*.so | '') exit ;;
*/deps/*) ;;
*) exit ;;
esac
kept=$DUET_LINKS/${output##*/}
rm -rf "$kept"
mkdir -p "$kept" || exit
number=0
skipped=
for argument do
    if [ -n "$skipped" ] || [ "$argument" = -o ]; then
        if [ -n "$skipped" ]; then skipped=; else skipped=yes; fi
        continue
    fi
    case $argument in
    *.o | *.rlib | *.a)
        if [ -f "$argument" ]; then
            number=$((number + 1))
            piece=$number-${argument##*/}
            ln "$argument" "$kept/$piece" 2>/dev/null || cp "$argument" "$kept/$piece" || exit
            argument=$piece
        fi
        ;;
    esac
    printf '%s\n' "$argument" >>"$kept/arguments"
done
