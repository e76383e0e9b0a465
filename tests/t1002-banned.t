#!/bin/bash
# Functions that do not compile here, and headers that stand alone.
. "${0%/*}/lib.sh"
: "${CC:=cc}"
needs "$CC"

compile() { "$CC" -std=gnu11 -Wall -Wextra -Werror -I"$top/lib" -fsyntax-only "$1"; }

cat >good.c <<'END'
#include "err.h"
#include <string.h>
int f(const char *a, const char *b);
int f(const char *a, const char *b) { return strcmp(a, b); }
END
exits 0 'other functions compile' compile good.c

n=0
while IFS='|' read -r name call; do
	printf '#include <string.h>\n#include <stdio.h>\n#include <time.h>\n' >bad.c
	printf '#include "err.h"\nvoid f(char *a, char *b, time_t *t);\n' >>bad.c
	printf 'void f(char *a, char *b, time_t *t)\n{ %s; (void)a; }\n' \
		"$call" >>bad.c
	compile bad.c >log 2>&1 && echo "$name compiles"
	grep -q "use_of_banned_function_$name" log || echo "$name is not named"
	n=$((n + 1))
done >faults <<'END'
strcpy|strcpy(a, b)
strncpy|strncpy(a, b, 3)
strcat|strcat(a, b)
strtok|strtok(a, b)
sprintf|sprintf(a, "%s", b)
gets|gets(a)
atoi|(void)atoi(a)
localtime|localtime(t)
gmtime|gmtime(t)
ctime|ctime(t)
END
cmp_file faults /dev/null "$n banned functions do not"

for h in "$top"/lib/*.h; do
	echo "#include \"${h##*/}\"" >one.c
	compile one.c >log 2>&1 || { echo "${h##*/}"; head -n 2 log; }
done >faults
cmp_file faults /dev/null 'every header of the library stands alone'

# The library neither prints nor ends the process (a forked child may).
grep -lE '\b(printf|puts|putchar|perror|exit|abort) ?\(' "$top"/lib/*.c |
	sed 's|.*/||' >users
cmp_file users - 'few files of the library print or exit' <<'END'
prog.c
xalloc.c
END
done_testing
