#compdef pitree
eval "$(pitree completions zsh)"
# These lines take its place from now on, and the Tab that loaded it is theirs too.
"$_comps[pitree]" "$@"
