import { describe, expect, it } from 'vitest'
import { sdkError } from '../../src/session/sdk-errors.ts'

describe('what the SDK throws', () => {
  it('where a server asks something back is told in words for those who see it', () => {
    const thrown = Object.assign(
      new Error("Cannot fulfil input request 'confirm': no handler is registered …"),
      {
        name: 'SdkError',
        code: 'CAPABILITY_NOT_SUPPORTED',
        data: { key: 'confirm', method: 'elicitation/create\u001B[31m' },
      },
    )
    const error = sdkError(thrown)
    expect(error.code).toBe('PROTOCOL')
    expect(error.toString()).toBe(
      'The server asks something back (elicitation/create) before it answers, and here nobody is asked that. Call the tool with all that it needs, so that it need not ask.',
    )
  })
})
