import type { Plugin } from '@tapline/core'
import { startEngine } from './engine.ts'
import { openGround, type Timing } from './ground.ts'
import { readOptions } from './options.ts'
import { rulesService } from './service.ts'
import { createDelivery } from './sink.ts'
import type { Rules } from './types.ts'

export { openRules } from './store/store.ts'
export { checkRule } from './wording/schedule.ts'
export { parseRule } from './wording/parse.ts'
export type { ParsedRule, SaidRule } from './wording/parse.ts'
export type { RulesPlace } from './store/store.ts'
export type { Timing } from './ground.ts'
export type * from './types.ts'

/** What {@link rulesSink} takes. */
export interface RulesSinkOptions {
  /** Given the service once the plugin is set up. */
  onReady?(rules: Rules): void
  /** Other times than the usual, for tests. */
  readonly timing?: Partial<Timing>
}

const TIMING: Timing = {
  tickMs: 30_000,
  watchMs: 2_000,
  retryMs: 30_000,
  graceMs: 30 * 60_000,
  endMs: 15_000,
}

/**
 * The sink `rules`: evaluates pushes against rules in natural language, once per project, by a sub-agent. Where pushes
 * are not delivered, or no sub-agent can run, it checks nothing; its service still reads and changes rules.
 */
export const rulesSink = ({ onReady, timing }: RulesSinkOptions = {}): Plugin => ({
  name: 'rules-sink',
  api: 1,
  setup({ hooks, host, log }, options) {
    const problems: string[] = []
    const settings = readOptions(options, (problem) => problems.push(problem))
    const ground = openGround(host, { settings, timing: { ...TIMING, ...timing }, log })
    hooks.config.tap({ stage: 'late' }, (state) => {
      const said = [...problems, ground.store.problem() ?? []].flat()
      const diagnostics = said.map((message) => ({ severity: 'warning' as const, message }))
      return said.length === 0 ? undefined : { ...state, diagnostics: [...state.diagnostics, ...diagnostics] }
    })
    const engine = startEngine(ground)
    const delivery = createDelivery(ground, engine)
    if (host.delivers) {
      // Most pushes of most servers lead here, and in most projects to nothing: then nobody writes a claim to disk.
      hooks.dedup.tap({ stage: 'early' }, ({ policy, trigger }) =>
        policy === 'rules' && delivery.leadsNowhere(trigger)
          ? { verdict: 'drop', reason: 'no rules' }
          : undefined,
      )
    }
    hooks.deliver.sink('rules').tapPromise({}, (trigger, context) => delivery.deliver(trigger, context))
    onReady?.(rulesService(ground, engine))
    return () => engine.close()
  },
})
