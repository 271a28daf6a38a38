import { expect, it } from 'vitest'
import { routing, steps } from './routing.ts'

it('asks for a policy once for each method, until it is told that policies have changed', async () => {
  let policy = 'log'
  const asked: string[] = []
  const { pipeline, events, send } = await routing({
    policyFor: (_server, method) => {
      asked.push(method)
      return policy
    },
  })
  send('build', 1)
  policy = 'ignore'
  send('build', 2)
  pipeline.reroute()
  send('build', 3)
  await pipeline.idle()
  expect(steps(events)).toEqual(['1 delivered log', '2 delivered log', '3 dropped ignored'])
  expect(asked).toHaveLength(2)
})
