import type { Exposure, ServerSpec } from '@tapline/core'

/** How a tool reaches the model: by its exact name, else by the first pattern that fits, else as its server says. */
export function toolExposure(server: Pick<ServerSpec, 'exposure' | 'toolExposure'>, tool: string): Exposure {
  const overrides = server.toolExposure
  if (Object.hasOwn(overrides, tool)) return overrides[tool] as Exposure
  for (const [pattern, exposure] of Object.entries(overrides)) {
    if (pattern.includes('*') && fits(pattern, tool)) return exposure
  }
  return server.exposure
}

/** `*` stands for any characters. Linear, where a regular expression could be made to backtrack. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  const first = parts[0] as string
  const last = parts.at(-1) as string
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false
  let at = first.length
  const end = name.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
