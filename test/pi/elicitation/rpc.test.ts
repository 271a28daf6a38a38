import { chmodSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import type { UiRequest } from '../../drivers/pi.ts'
import { callTool, connected, createStage, noticed, PATIENCE_MS, type Stage, toolAnswer } from '../stage.ts'

/** What is opened in the browser of this stage. */
function browser({ scratch }: Stage) {
  const log = path.join(scratch.root, 'opened.txt')
  for (const name of ['xdg-open', 'open'])
    chmodSync(scratch.write(`bin/${name}`, `#!/bin/sh\nprintf '%s\\n' "$1" >> "${log}"\n`), 0o755)
  const own = [path.join(scratch.root, 'bin'), path.dirname(process.execPath), process.env.PATH]
  return {
    env: { PATH: own.join(path.delimiter) },
    visited: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []),
  }
}

/** What the reference server says that it was answered. */
function raw(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('Raw result: ') + 'Raw result: '.length))
}

describe('servers of both eras', () => {
  it('ask, and are answered what the person has looked over', async () => {
    await using stage = await createStage()
    const { env, visited } = browser(stage)
    const entry = (...args: string[]) => ({ command: process.execPath, args, exposure: 'direct' })
    stage.json({ ref: entry(servers.everything, 'stdio'), new: entry(servers.modern, '--asks') })
    const pi = await stage.start({ env })
    await connected(pi, 'ref', 'new')
    const shown: UiRequest[] = []
    /** Calls a tool, and answers its dialogs in turn: with the option that begins so, or with a text. */
    const call = async (name: string, args: object, ...answers: readonly (string | undefined)[]) => {
      const waiting = [...answers]
      shown.length = 0
      pi.answer((request) => {
        shown.push(request)
        const answer = waiting.shift()
        return request.options ? request.options.find((option) => option.startsWith(answer ?? '\n')) : answer
      })
      return toolAnswer(await callTool(stage, pi, name, args))
    }

    const choices = ['Monica', '[x] Guitar', '[ ] Piano', 'Done', 'Superman', 'Done', 'Dogs']
    const filled = ['Ada', 'No', '', 'ada', 'ada@example.com', '', '', '', '7.5', ...choices]
    const answer = await call('mcp__ref__trigger_elicitation_request', {}, 'Answer', ...filled, 'Send')
    expect(raw(answer)).toEqual({
      action: 'accept',
      content: {
        name: 'Ada',
        check: false,
        firstLine: 'It was a dark and stormy night.',
        email: 'ada@example.com',
        integer: 42,
        number: 7.5,
        untitledSingleSelectEnum: 'Monica',
        untitledMultipleSelectEnum: ['Piano'],
        titledSingleSelectEnum: 'hero-1',
        titledMultipleSelectEnum: ['fish-1'],
        legacyTitledEnum: 'pet-2',
      },
    })
    expect(shown[0]?.title).toMatch(/^The MCP server "ref" asks you:\n {2}│ Please provide inputs/)
    expect(shown[5]?.title).toMatch(/^! "ada" is no email address\.\nThe MCP server "ref" asks, 4 of 13:/)

    expect(raw(await call('mcp__ref__trigger_elicitation_request', {}, undefined))).toEqual({
      action: 'cancel',
    })
    expect(raw(await call('mcp__ref__trigger_elicitation_request', {}, 'Decline'))).toEqual({
      action: 'decline',
    })

    const url = 'https://example.com/pay?for=tea'
    expect(await call('mcp__ref__trigger_url_elicitation', { url }, 'Open it')).toContain('User completed')
    expect(visited()).toEqual([url])
    expect(shown[0]?.title).toContain(`${url}\n"ref" leads you to example.com.`)

    // An address is needed before the call (-32042), then the call asks again.
    const required = await call(
      'mcp__ref__trigger_url_elicitation',
      { url, errorPath: true },
      'I open it myself',
      'I am done there',
      'Decline',
    )
    expect(required).toContain('User declined')
    expect(shown[0]?.title).toContain('"ref" leads you to modelcontextprotocol.io.')
    expect(await noticed(pi, /waits for you:/)).toContain('\nhttps://modelcontextprotocol.io/')
    const refused = await call('mcp__ref__trigger_url_elicitation', { url, errorPath: true }, 'Decline')
    expect(refused).toBe(
      'The server "ref" answers when an address has been opened in a browser, which was declined.',
    )
    expect(visited()).toEqual([url])

    const drinks = ['[ ] tea', '[ ] milk', 'Done', '[x] coffee', 'Done']
    expect(JSON.parse(await call('mcp__new__ask', {}, 'Answer', 'Ada', ...drinks, 'Send'))).toEqual({
      who: { action: 'accept', content: { name: 'Ada', drinks: ['tea', 'milk'] } },
      where: { roots: [{ uri: `file://${stage.scratch.project}`, name: 'project' }] },
    })
    expect(await call('mcp__new__visit', {}, 'I open it myself', 'I am done there')).toBe('accept as it was')
    expect(await call('mcp__new__visit', {}, 'Decline')).toBe('decline as it was')

    // A question that nobody answers ends with the run, and with the session.
    pi.answer(() => new Promise(() => undefined))
    const opened = async () => {
      const before = pi.events.length
      stage.model.script([{ toolCalls: [{ name: 'mcp__ref__trigger_elicitation_request', args: {} }] }])
      await pi.send('prompt', { message: 'Please go on.' })
      await pi.waitFor(({ method }) => method === 'select', PATIENCE_MS, before)
    }
    await opened()
    await pi.send('abort')
    await noticed(pi, /^What the MCP server "ref" asked is no longer wanted\.$/)
    await opened()
    expect(await pi.close()).toMatchObject({ code: 0 })
  })
})
