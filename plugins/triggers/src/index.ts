import type { Plugin } from '@tapline/core'
import { mapNotification } from './mapping.ts'

/** Maps the notifications of MCP servers to triggers, drops or nothing to deliver. */
export const triggers = (): Plugin => ({
  name: 'triggers',
  api: 1,
  setup({ hooks }) {
    hooks.notify.tap({}, (notice) => (notice.kind === 'raw' ? mapNotification(notice) : undefined))
  },
})

export { isToolsListChanged } from './methods.ts'
export { redact } from './redaction.ts'
