// Imported for its effect: it runs the `tapline` command with this process's arguments.
export {}
