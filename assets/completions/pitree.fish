pitree completions fish | source
