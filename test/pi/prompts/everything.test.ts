import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { createStage } from '../stage.ts'
import { commandsOf, lastUserText, offers, runs } from './shelf.ts'

describe('the prompts of the reference server', () => {
  it('are commands, and what they say is the person’s message', async () => {
    await using stage = await createStage()
    stage.json({ ref: { command: process.execPath, args: [servers.everything, 'stdio'] } })
    const pi = await stage.start()
    await offers(pi, {
      'mcp:ref:args-prompt': '<city> [state] — A prompt with two arguments, one required and one optional',
      'mcp:ref:completable-prompt':
        '<department> <name> — First argument choice narrows values for second argument.',
      'mcp:ref:resource-prompt':
        '<resourceType> <resourceId> — A prompt that includes an embedded resource reference',
      'mcp:ref:simple-prompt': 'A prompt with no arguments',
    })
    const said = async (line: string) => lastUserText(await runs(stage, pi, line))
    expect(await said('/mcp:ref:simple-prompt')).toBe('This is a simple prompt without arguments.')
    expect(await said('/mcp:ref:args-prompt "New York" state=NY')).toBe("What's weather in New York, NY?")
    expect(await said('/mcp:ref:completable-prompt Sales Eve')).toBe(
      'Please promote Eve to the head of the Sales team.',
    )
    expect(await said('/mcp:ref:resource-prompt Text 1')).toMatch(
      /^This prompt includes the Text resource with id: 1\. .*:\n\nResource demo:\/\/resource\/dynamic\/text\/1:\nResource 1: This is a plaintext/,
    )
    expect(Object.keys(await commandsOf(pi))).toHaveLength(4)
  })
})
