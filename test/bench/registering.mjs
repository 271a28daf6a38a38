// An extension that registers the tools of the server under measurement out of its memory, and does nothing else:
// what pi itself takes for so many. Their number is in TOOLS.
import { toolSet } from './tool-set.mjs'

export default function registering(pi) {
  for (const { name, inputSchema, ...tool } of toolSet(Number(process.env.TOOLS)))
    pi.registerTool({
      ...tool,
      name: `mcp__many__${name}`,
      label: `many/${name}`,
      parameters: inputSchema,
      execute: async () => ({ content: [{ type: 'text', text: name }] }),
    })
}
