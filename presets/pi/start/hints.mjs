// A pi extension of the main job: says above the editor what to try.
const HINTS = [
  'Tapline in the real pi: a scratch directory, a scripted model, two real MCP servers.',
  'Try "echo hello" (a tool of the HTTP server), "status" (a tool of the push server), /mcp, /triggers sources.',
  'Pushes of the server "notify" arrive in the chat by themselves. Quit with Ctrl+C twice.',
]

export default function hints(pi) {
  pi.on('session_start', (_event, ctx) => ctx.ui.setWidget('tapline-start', HINTS))
}
