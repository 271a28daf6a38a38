import { expect, test } from 'vitest'
import type { ConnectRequest } from '../../src/index.ts'
import { redactorFor } from '../../src/session/secrets.ts'

test('a secret that comes to be known while the connection lives is masked from then on', () => {
  const secrets = new Set<string>()
  const request = {
    headers: { 'x-key': 'first-value' },
    env: {},
    transport: { type: 'custom', name: 'm', config: {} },
    secrets,
  } as unknown as ConnectRequest
  const redact = redactorFor(request)
  expect(redact('first-value and second value')).toBe('[REDACTED] and second value')
  secrets.add('second value')
  expect(redact('first-value and second value')).toBe('[REDACTED] and [REDACTED]')
  // As an address would hold it.
  expect(redact('?x=second%20value')).toBe('?x=[REDACTED]')
})
