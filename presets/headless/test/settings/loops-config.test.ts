import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '@tapline/core'
import { expect, it } from 'vitest'
import { withLoopsConfig } from '../../src/settings/loops-config.ts'
import { createPlace } from '../place.ts'

async function read(
  content: string | undefined,
  options = {},
): Promise<{ options: object; messages: string[] }> {
  const place = createPlace()
  if (content !== undefined) place.write('agent/loops/config.toml', content)
  const told: Diagnostic[] = []
  const merged = await withLoopsConfig(options, place.paths.loopsDir, (diagnostic) => told.push(diagnostic))
  return { options: merged, messages: told.map(({ message }) => message.replace(place.root, '')) }
}

it('gives plugins what the file says, under what tapline.* says', async () => {
  const file =
    '[triggers]\npoll_interval_secs = 60\nrun_timeout_secs = 30\n[cron]\nmax_concurrent_runs = 2\n[limits]\ndaily_budget_usd = 1.5\n[danger]\nallow = ["x"]'
  expect(await read(file, { 'rules-sink': { run_timeout_secs: 99 }, other: { a: 1 } })).toEqual({
    options: {
      'rules-sink': {
        poll_interval_secs: 60,
        run_timeout_secs: 99,
        max_concurrent_runs: 2,
        daily_budget_usd: 1.5,
      },
      other: { a: 1 },
    },
    messages: [],
  })
})

it('is empty where there is none', async () => {
  expect(await read(undefined)).toEqual({ options: {}, messages: [] })
})

it('keeps the rest when one value is wrong', async () => {
  const { options, messages } = await read(
    '[triggers]\npoll_interval_secs = 0\nrun_timeout_secs = 30\n[limits]\ndaily_budget_usd = "much"',
  )
  expect(options).toEqual({ 'rules-sink': { run_timeout_secs: 30 } })
  expect(messages).toEqual([
    'triggers: ignoring invalid poll_interval_secs in /agent/loops/config.toml: it must be a number of at least 1.',
    'limits: ignoring invalid daily_budget_usd in /agent/loops/config.toml: it must be a number of at least 0.',
  ])
})

it('says that it cannot be read, with the line and nothing of the file', async () => {
  expect(await read('[triggers]\nsecret = "s3cret')).toEqual({
    options: {},
    messages: ['/agent/loops/config.toml is not valid TOML (line 2); its settings are the defaults.'],
  })
  const place = createPlace()
  mkdirSync(join(place.paths.loopsDir, 'config.toml'), { recursive: true })
  const told: Diagnostic[] = []
  expect(await withLoopsConfig({}, place.paths.loopsDir, (diagnostic) => told.push(diagnostic))).toEqual({})
  expect(told[0]?.message).toContain('could not be read (EISDIR)')
})
