import { describe, expect, it } from 'vitest'
import { judge } from './judging.ts'
import type { Run } from './suite.ts'

const run = (more: Partial<Run> = {}): Run => ({
  passed: 2,
  failed: [],
  output: 'what was said',
  succeeded: true,
  ...more,
})
const failing = (...checks: readonly string[]): Run =>
  run({ succeeded: false, failed: checks.map((check) => ({ check, why: 'wrong' })) })

describe('a scenario of the conformance suite', () => {
  it('passes when something was checked and all of it holds', () => {
    expect(judge(run(), undefined)).toEqual({ kind: 'passed', notes: [] })
    expect(judge(failing('a', 'b'), undefined)).toEqual({
      kind: 'unexpected',
      notes: ['a: wrong', 'b: wrong'],
    })
    expect(judge(run({ succeeded: false }), undefined)).toEqual({
      kind: 'unexpected',
      notes: ['what was said'],
    })
  })

  it('proves nothing when nothing was checked', () => {
    for (const expected of [undefined, { reason: 'none' }])
      expect(judge(run({ passed: 0 }), expected)).toEqual({
        kind: 'unexpected',
        notes: ['nothing was checked', 'what was said'],
      })
  })

  it('may be expected to fail, as a whole or in some checks', () => {
    expect(judge(failing('a'), { reason: 'left out' })).toEqual({
      kind: 'fails as expected',
      notes: ['left out'],
    })
    const checks = { reason: 'left out', checks: ['a', 'b'] }
    expect(judge(failing('a', 'b'), checks).kind).toBe('fails as expected')
    expect(judge(failing('a', 'b', 'c'), checks)).toEqual({ kind: 'unexpected', notes: ['c: wrong'] })
  })

  it('is news when it was expected to fail and does not', () => {
    expect(judge(run(), { reason: 'left out' }).notes).toEqual([
      'no longer fails, though it is expected to: left out',
    ])
    expect(judge(failing('a'), { reason: 'left out', checks: ['a', 'b'] })).toEqual({
      kind: 'unexpected',
      notes: ['b: no longer fails'],
    })
  })
})
