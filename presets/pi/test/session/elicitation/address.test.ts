import { describe, expect, it } from 'vitest'
import { person } from './person.ts'

const at = (url: string) => ({ mode: 'url', message: 'Please sign in.', url })

describe('an address', () => {
  it('is shown in full with its host, and left to the person', async () => {
    const { ask, shown, notices } = person('I open it myself')
    expect(await ask(at('https://example.com/in?code=a%20b#c'))).toEqual({ action: 'accept' })
    expect(shown).toEqual([
      {
        title: [
          'The MCP server "docs" asks you to open an address in your browser:',
          '  │ Please sign in.',
          'https://example.com/in?code=a%20b#c',
          '"docs" leads you to example.com. Nothing has been fetched from there.',
        ].join('\n'),
        options: ['Not now', 'Open it in the browser', 'I open it myself', 'Decline'],
      },
    ])
    expect(notices).toEqual([
      'What the MCP server "docs" wants you to open waits for you:\nhttps://example.com/in?code=a%20b#c',
    ])
  })

  it.each<[string | undefined, string]>([
    ['Not now', 'cancel'],
    ['Decline', 'decline'],
    [undefined, 'cancel'],
  ])('that is answered with %s is opened by nobody', async (answer, action) => {
    const { ask, notices } = person(answer)
    expect(await ask(at('https://example.com/'))).toEqual({ action })
    expect(notices).toEqual([])
  })

  it.each([
    [
      'https://аррӏе.com/',
      'https://xn--80ak6aa92e.com/',
      '! This name has letters that may look like others',
    ],
    [
      'https://b\u00FCcher.example/',
      'https://xn--bcher-kva.example/',
      '! This name has letters that may look like others',
    ],
    ['http://example.com/', 'http://example.com/', '! The connection is not encrypted'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/', '! That is this machine.'],
    ['http://0x7f.1/', 'http://127.0.0.1/', '! That is this machine.'],
    ['https://[::1]/', 'https://[::1]/', '! That is this machine.'],
    ['https://example.com/\u202Emoc.elgoog', 'https://example.com/%E2%80%AEmoc.elgoog', ''],
  ])('%s is shown as %s', async (url, shownAs, warning) => {
    const { ask, shown } = person(undefined)
    await ask(at(url))
    expect(shown[0]?.title.split('\n')).toContain(shownAs)
    expect(shown[0]?.title).toContain(warning)
  })

  it.each([
    ['localhost', 'here'],
    ['localhost.', 'here'],
    ['app.localhost', 'here'],
    ['127.0.0.1', 'here'],
    ['0.0.0.0', 'here'],
    ['[::]', 'here'],
    ['[::1]', 'here'],
    ['[::ffff:127.0.0.1]', 'here'],
    ['10.0.0.1', 'near'],
    ['172.31.0.1', 'near'],
    ['192.168.1.1', 'near'],
    ['169.254.169.254', 'near'],
    ['[fd00::1]', 'near'],
    ['[fe80::1]', 'near'],
    ['printer.local', 'near'],
    ['router', 'near'],
    ['127.example.com', 'far'],
    ['192.168.1.1.example.com', 'far'],
    ['172.32.0.1', 'far'],
    ['localhost.example.com', 'far'],
    ['xn--localhost-.example', 'far'],
  ])('at %s is said to be %s', async (host, where) => {
    const { ask, shown } = person(undefined)
    await ask(at(`http://${host}/`))
    const said = shown[0]?.title ?? ''
    expect(said.includes('! That is this machine.')).toBe(where === 'here')
    expect(said.includes('! That is in your own network.')).toBe(where === 'near')
    expect(said.includes('! The connection is not encrypted')).toBe(where !== 'here')
  })

  it('is waited for where the server goes on with the answer', async () => {
    const opened = ['I open it myself', 'I am done there'] as const
    const { ask, shown } = person(...opened)
    expect(await ask(at('https://example.com/'), { waits: true })).toEqual({ action: 'accept' })
    expect(shown[1]).toEqual({
      title:
        'The MCP server "docs" waits until you are done at example.com.\nWhat was called is called again then.',
      options: ['I am done there: go on', 'Give up'],
    })
    for (const answer of ['Give up', undefined])
      expect(
        await person('I open it myself', answer).ask(at('https://example.com/'), { waits: true }),
      ).toEqual({
        action: 'cancel',
      })
  })

  it('is waited for until the server says that all is done', async () => {
    const done = new AbortController()
    const { ask, shown } = person('I open it myself', 'wait')
    const answer = ask(at('https://example.com/'), { waits: true, done: done.signal })
    while (shown.length < 2) await new Promise((resolve) => setImmediate(resolve))
    done.abort()
    expect(await answer).toEqual({ action: 'accept' })
  })

  it('is told of when all is done there', async () => {
    const done = new AbortController()
    const { ask, notices } = person('I open it myself')
    await ask(at('https://example.com/'), { done: done.signal })
    expect(notices).toHaveLength(1)
    done.abort()
    expect(notices[1]).toBe('The MCP server "docs" says that all is done at example.com.')
  })
})
