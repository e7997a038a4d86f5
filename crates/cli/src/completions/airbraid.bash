# Completion of airbraid's words in bash: airbraid itself knows them.
_airbraid() {
    local IFS=$'\013' words=("${COMP_WORDS[@]}")
    words[COMP_CWORD]=$2
    # shellcheck disable=SC2207 # a word has blanks, and ends with a vertical tab
    COMPREPLY=($(_CLAP_IFS=$IFS _CLAP_COMPLETE_INDEX=$COMP_CWORD AIRBRAID_COMPLETE=bash \
        airbraid -- "${words[@]}" 2>/dev/null))
    # A folder, a table of a scenario, or a key: more follows.
    if [[ ${COMPREPLY[0]-} == *[=/.] ]]; then compopt -o nospace; fi
}
complete -o bashdefault -F _airbraid airbraid
