#compdef airbraid
# Completion of airbraid's words in zsh: airbraid itself knows them.
_airbraid() {
    local word value
    local -a whole begun
    for word in "${(@f)$(_CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) AIRBRAID_COMPLETE=zsh \
        airbraid -- "${words[@]}" 2>/dev/null)}"; do
        value=${word%%:*}
        # A folder, a table of a scenario, or a key: more follows.
        case $value in
            '') ;;
            *[=/.]) begun+=("$word") ;;
            *) whole+=("$word") ;;
        esac
    done
    (( $#begun )) && _describe -V words begun -S ''
    (( $#whole )) && _describe -V words whole
}
if [ "$funcstack[1]" = _airbraid ]; then _airbraid "$@"; else compdef _airbraid airbraid; fi
