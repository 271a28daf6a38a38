import { TaplineError } from '@tapline/core'
import type { SignInPrompt } from '@tapline/oauth'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createServerPage } from '../../../src/session/servers/server/page.ts'
import { KEYS } from '../screen/pi-terminal.ts'
import { scopeOf, server, show, type Shown } from './stage.ts'

// No test opens a browser.
const { opened } = vi.hoisted(() => ({ opened: { addresses: [] as string[], works: true } }))
vi.mock('@tapline/headless', async (original) => ({
  ...(await original<object>()),
  openBrowser: (address: string) => {
    opened.addresses.push(address)
    return Promise.resolve(opened.works)
  },
}))
beforeEach(() => Object.assign(opened, { addresses: [], works: true }))

const ADDRESS = `https://login.example/authorize?client_id=me&state=${'s'.repeat(150)}`

type SignIn = (prompt: SignInPrompt, signal: AbortSignal) => Promise<unknown>

function signingIn(signIn: SignIn): Shown {
  const scope = scopeOf(
    [
      server('hub', {
        status: { state: 'auth_failed', reason: 'The server wants you to sign in.', signIn: true },
      }),
    ],
    {
      signIns: {
        uses: () => true,
        isSignedIn: () => Promise.resolve(false),
        signIn: (_spec: unknown, prompt: SignInPrompt, { signal }: { signal: AbortSignal }) =>
          signIn(prompt, signal),
      },
    },
  )
  const shown = show(scope, { page: (panel) => createServerPage(panel, 'hub') })
  shown.type('s')
  return shown
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () =>
      reject(new TaplineError('CANCELLED', 'The sign-in was cancelled.')),
    ),
  )

describe('signing in from the panel', () => {
  it('shows the address whole and as a link, takes a pasted one, and says when that does not fit', async () => {
    const given: (string | undefined)[] = []
    const shown = signingIn(async (prompt, signal) => {
      prompt.show(ADDRESS)
      given.push(await prompt.paste?.(signal, undefined))
      given.push(await prompt.paste?.(signal, 'That is another address.'))
    })
    const lines = await shown.until(/paste the address/)
    expect(lines.slice(1, 4)).toEqual([
      ' Sign in to hub',
      '',
      ' Approve the request in your browser. If none has opened, open this address:',
    ])
    expect(
      lines
        .slice(4, 7)
        .map((line) => line.trim())
        .join(''),
    ).toBe(ADDRESS)
    expect(shown.raw().filter((line) => line.includes(`\u001B]8;;${ADDRESS}\u001B\\`))).toHaveLength(3)
    expect(opened.addresses).toEqual([ADDRESS])
    shown.press('enter')
    expect(given).toEqual([])
    shown.panel.handle('\u001B[200~http://127.0.0.1:1/callback?code=x\r\n\u001B[201~')
    expect(shown.lines()).toContain(' > http://127.0.0.1:1/callback?code=x')
    shown.press('enter')
    await shown.until(/ That is another address\./)
    expect(shown.lines()).toContain(' >')
    // Letters are typed here, and do nothing else.
    shown.type('d', 'r')
    shown.press('enter')
    await shown.until(/Signed in to MCP server "hub" \(0 tools\)\./)
    expect(given).toEqual(['http://127.0.0.1:1/callback?code=x', 'dr'])
    expect(shown.lines()[1]).toMatch(/^ hub /)
  })

  it('is cancelled with escape at any time, and by the end of the session', async () => {
    const signals: AbortSignal[] = []
    for (const stage of ['asking', 'waiting']) {
      const shown = signingIn(async (prompt, signal) => {
        signals.push(signal)
        if (stage === 'waiting') {
          prompt.show(ADDRESS)
          void prompt.paste?.(signal, undefined)
        }
        return aborted(signal)
      })
      await shown.until(stage === 'asking' ? /Asking where to sign in/ : /paste the address/)
      shown.press('escape')
      await shown.until(/Sign-in cancelled\./)
      expect(shown.lines()[1]).toMatch(/^ hub /)
    }
    const shown = signingIn((_prompt, signal) => {
      signals.push(signal)
      return aborted(signal)
    })
    await shown.until(/Asking/)
    shown.panel.dispose()
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true, true])
  })

  it('goes on by itself when the browser answers, also without any browser', async () => {
    opened.works = false
    const answered = Promise.withResolvers<void>()
    const shown = signingIn(async (prompt, signal) => {
      prompt.show(ADDRESS)
      const over = new AbortController()
      const pasted = prompt.paste?.(AbortSignal.any([signal, over.signal]), undefined)
      await answered.promise
      over.abort()
      expect(await pasted).toBeUndefined()
    })
    await shown.until(/No browser could be opened here: open the address yourself\./)
    shown.panel.handle(KEYS.copy)
    expect(shown.written).toEqual([`\u001B]52;c;${Buffer.from(ADDRESS).toString('base64')}\u0007`])
    expect(shown.lines().join('\n')).toContain('clipboard')
    answered.resolve()
    await shown.until(/Signed in/)
  })

  it('says what went wrong, and does one thing at a time', async () => {
    const failing = signingIn(() =>
      Promise.reject(new TaplineError('AUTH_FAILED', 'It lies about its issuer.')),
    )
    await failing.until(/Sign-in to MCP server "hub" failed: It lies about its issuer\. Sign in or store/)
    const opening = Promise.withResolvers<void>()
    const scope = scopeOf(
      [server('hub', { status: { state: 'auth_failed', signIn: true }, reconnect: () => opening.promise })],
      { signIns: { uses: () => true, isSignedIn: () => Promise.resolve(false) } },
    )
    const busy = show(scope, { page: (panel) => createServerPage(panel, 'hub') })
    busy.type('r', 's')
    expect(busy.lines()).toContain(' Not yet: Reconnecting "hub"…')
    opening.resolve()
  })
})
