import type { FullTap, Hook } from 'tapable'
import { isTaplineError, messageOf, TaplineError } from '../errors.ts'
import type { HookName } from './hooks.ts'
import type { HookPolicy } from './policy.ts'

/** Told of every failure that the guard let through to a person. */
export type Report = (error: TaplineError) => void

/** A tap with what the plugin view adds to it. */
export type PluginTap = FullTap & {
  readonly plugin?: string
  readonly critical?: boolean
  readonly active?: () => boolean
}

/** Hooks take one argument or two; spelt out, a call costs no array. */
type TapFunction = (first: unknown, second: unknown) => unknown

/**
 * Wraps every tap of `hook`: adds plugin and hook to any error, applies the deadline, and turns a
 * failure into "no opinion" unless the tap is critical or the hook's policy says otherwise. What is
 * not an answer counts as a failure, except where nobody `listens` to answers.
 */
export function guardHook(
  hook: Hook<unknown[], unknown>,
  name: HookName,
  policy: HookPolicy,
  report: Report,
  listens = true,
): void {
  hook.intercept({
    register: (tap) => {
      const { plugin = tap.name, critical = false, active = always } = tap as PluginTap
      const fails = critical || policy.failure === 'fail'
      const settle = (error: TaplineError): undefined => {
        if (fails) throw error
        report(error)
        return undefined
      }
      const run = tap.fn as TapFunction
      const blame = (thrown: unknown): TaplineError => blameOn(plugin, name, thrown)
      const { accepts } = policy
      const checked = (answer: unknown, asked: unknown): unknown => {
        if (!listens || answer === undefined) return answer
        if (typeof answer !== 'object' || answer === null) return settle(noAnswer(plugin, name, answer))
        if (accepts === undefined) return answer
        let verdict: true | string
        try {
          verdict = accepts(answer, asked)
        } catch (thrown) {
          return settle(blame(thrown))
        }
        return verdict === true ? answer : settle(refused(plugin, name, verdict))
      }
      const guarded: TapFunction =
        tap.type === 'promise'
          ? async (first, second) => {
              if (!active()) return undefined
              let answer: unknown
              try {
                answer = await withDeadline(run(first, second), policy.deadlineMs, plugin, name)
              } catch (thrown) {
                return settle(blame(thrown))
              }
              return checked(answer, first)
            }
          : (first, second) => {
              if (!active()) return undefined
              let answer: unknown
              try {
                answer = run(first, second)
                if (!isThenable(answer)) return checked(answer, first)
                answer.then(undefined, () => undefined)
              } catch (thrown) {
                return settle(blame(thrown))
              }
              return settle(
                new TaplineError(
                  'TAP_PROMISE',
                  `Plugin "${plugin}" answered hook "${name}" with a promise in a synchronous tap.`,
                  {
                    plugin,
                    hook: name,
                  },
                ),
              )
            }
      return { ...tap, fn: guarded }
    },
  })
}

const always = (): boolean => true

function blameOn(plugin: string, hook: string, thrown: unknown): TaplineError {
  if (isTaplineError(thrown)) {
    return thrown.place.plugin === undefined
      ? new TaplineError(thrown.code, thrown.message, {
          ...thrown.place,
          plugin,
          hook,
          advice: thrown.advice,
          data: thrown.data,
          cause: thrown,
        })
      : thrown
  }
  return new TaplineError('TAP_FAILED', `Plugin "${plugin}" failed at hook "${hook}": ${messageOf(thrown)}`, {
    plugin,
    hook,
    cause: thrown,
  })
}

function noAnswer(plugin: string, hook: string, answer: unknown): TaplineError {
  const what = answer === null ? 'null' : `a ${typeof answer}`
  return new TaplineError(
    'TAP_FAILED',
    `Plugin "${plugin}" answered hook "${hook}" with ${what}, which is no answer.`,
    { plugin, hook },
  )
}

function refused(plugin: string, hook: string, why: string): TaplineError {
  return new TaplineError(
    'TAP_FAILED',
    `Plugin "${plugin}" answered hook "${hook}" with something that cannot be used: ${why}.`,
    { plugin, hook },
  )
}

function withDeadline(
  answer: unknown,
  deadlineMs: number | undefined,
  plugin: string,
  hook: string,
): unknown {
  if (deadlineMs === undefined || !isThenable(answer)) return answer
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new TaplineError(
          'TAP_TIMEOUT',
          `Plugin "${plugin}" did not answer hook "${hook}" within ${deadlineMs / 1000} s.`,
          { plugin, hook },
        ),
      )
    }, deadlineMs)
    answer.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  )
}
