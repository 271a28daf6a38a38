import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Receipt, Trigger } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { desktopSink } from '../../examples/desktop-sink/index.ts'
import { notification } from '../../examples/desktop-sink/notification.ts'
import { processesNaming, waitUntil } from '../drivers/processes.ts'

const push: Trigger = {
  kind: 'trigger',
  traceId: '4c1f4bd2-6d0c-4d5e-9c5a-0f6f0a4f7a11',
  source: 'mcp',
  server: 'hub',
  method: 'notifications/build',
  key: 'mcp:hub:custom:build-7',
  replacement: 'drop',
  summary: 'notifications/build build 7 failed',
  receivedAt: Date.UTC(2026, 10, 30, 9, 5),
}

/** What becomes of a push where `notify-send` is this shell script, and what the person is told. */
async function shownBy(
  script: string,
): Promise<{ receipt: Receipt | undefined; said: string; directory: string }> {
  const directory = mkdtempSync(path.join(tmpdir(), 'desktop-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const program = path.join(directory, 'notify-send')
  writeFileSync(program, `#!/bin/sh\n${script}\n`)
  chmodSync(program, 0o755)
  const PATH = [directory, process.env.PATH].join(path.delimiter)
  const { kernel, reports, dispose } = await testKernel(desktopSink, { host: { env: { PATH } } })
  const context = { policy: 'desktop', signal: AbortSignal.timeout(10_000) }
  const receipt = await kernel.hooks.deliver.for('desktop').promise(push, context)
  await dispose()
  return { receipt, said: reports.map((error) => error.toString()).join('\n'), directory }
}

/** What g_strcompress of GLib makes of a text, which notify-send does with a body. */
function compressed(text: string): string {
  return text.replace(/\\([0-7]{1,3}|[^])/g, (_whole, code: string) =>
    /^[0-7]/.test(code)
      ? String.fromCodePoint(Number.parseInt(code, 8))
      : ({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }[code] ?? code),
  )
}

describe('a notification of the desktop', () => {
  it('has a body that no text makes markup of', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('\\', '0', '7', '4', 'n', '<', '>', '&', 'b', '"', ' '),
    })
    fc.assert(
      fc.property(hostile, (text) => {
        const body = compressed(notification('linux', 'Tapline: hub', text)?.args.at(-1) ?? '')
        expect(body).not.toMatch(/[<>\n]/)
        const read = body.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
        expect(read).toBe(text)
      }),
    )
  })

  it.skipIf(process.platform !== 'linux')('goes to the inbox when its program dies', async () => {
    const { receipt, said } = await shownBy('kill -TRAP $$')
    expect(receipt).toBeUndefined()
    expect(said).toMatch(/notify-send ended with SIGTRAP: is there a desktop\?/)
  })

  it.skipIf(process.platform !== 'linux')('is not waited for longer than the inbox can wait', async () => {
    const began = performance.now()
    const { receipt, said, directory } = await shownBy(`trap '' TERM; while :; do sleep 1; done`)
    expect(receipt).toBeUndefined()
    expect(said).toMatch(/notify-send did not end in time\./)
    expect(performance.now() - began).toBeLessThan(8_000)
    await waitUntil(() => processesNaming(directory).length === 0, 5_000, 'the program to be gone')
  })
})
