import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = `
  const { createKernel, isTaplineError } = await import(process.argv[1])
  try {
    await createKernel({ plugins: [], host: {}, report: () => undefined })
    console.log('started')
  } catch (error) {
    console.log(isTaplineError(error), error.code, error.toString())
  }
`

async function start(...flags: readonly string[]): Promise<string> {
  const kernel = new URL('./codegen-entry.ts', import.meta.url).href
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    '--input-type=module',
    '-e',
    SCRIPT,
    kernel,
  ])
  return stdout.trim()
}

it('says at the start what to do where code generation is forbidden', async () => {
  expect(await start('--disallow-code-generation-from-strings')).toBe(
    'true CODEGEN_BLOCKED Tapline cannot start: this process forbids code generation from strings. ' +
      'Run this process without --disallow-code-generation-from-strings: hooks are compiled.',
  )
})

it('starts everywhere else', async () => {
  expect(await start()).toBe('started')
})
