import type { BeforeAgentStartEvent } from '@earendil-works/pi-coding-agent'

/** Sections of the system prompt by name; one that is undefined has nothing to say now. */
export type PromptSections = Readonly<Record<string, string | undefined>>

/** All sections of Tapline, from what each part has to say; the names are pi's own and those of channels. */
export function sectionsOf(
  servers: { section(): string | undefined },
  channels?: { section(): string | undefined },
): PromptSections {
  return { mcp_servers: servers.section(), channels: channels?.section() }
}

/** Sections that also stand in a prompt that another extension has put in place of pi's. */
const IN_EVERY_PROMPT = new Set(['channels'])

/** Writes the sections into the prompt that a turn starts with. pi tells the model only of those that differ. */
export function writeSections(
  { systemPromptOptions: options }: Pick<BeforeAgentStartEvent, 'systemPromptOptions'>,
  sections: PromptSections,
): void {
  for (const [name, text] of Object.entries(sections)) {
    if (text === undefined) continue
    options.sections[name] = text
    // Sections are not in a prompt that replaces the whole.
    if (options.forceSystemPrompt !== undefined && IN_EVERY_PROMPT.has(name))
      options.forceSystemPrompt += `\n\n<${name}>\n${text}\n</${name}>`
  }
}
