eval "$(pitree completions bash)"
