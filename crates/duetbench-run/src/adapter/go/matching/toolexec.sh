#!/bin/sh
# For go's -toolexec: runs duet's linker in place of `link`, and everything else as it would be run without duet.
# toolexec.sh LINKER WORDS [the user's own -toolexec: so many words] TOOL ARGUMENTS…
linker=$1
words=$2
shift 2

# Whether a link is asked for. Asked for its version, which says whether something must be compiled anew, Go's linker answers.
links() {
	shift $(($1 + 1))
	case $1 in
	*/link) [ "$2" != -V=full ] ;;
	*) false ;;
	esac
}

if links "$words" "$@"; then
	# Every argument goes from the front to the end, and the tool is exchanged on the way.
	i=0
	for argument; do
		[ $i -ne "$words" ] || argument=$linker
		shift
		set -- "$@" "$argument"
		i=$((i + 1))
	done
fi
exec "$@"
