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

  it('where an answer is none says which parts of it are missing or wrong, and not how that was checked', () => {
    const issues = [
      { expected: 'string', code: 'invalid_type', path: ['protocolVersion'], message: 'Invalid input' },
      { expected: 'object', code: 'invalid_type', path: ['capabilities', 'tools\u001B[31m'], message: '…' },
    ]
    const told = (message: string): string =>
      sdkError(Object.assign(new Error(message), { name: 'SdkError', code: 'INVALID_RESULT' })).message
    expect(told(`Invalid result for initialize: ${JSON.stringify(issues, undefined, 2)}`)).toBe(
      'The server’s answer to initialize is not as the protocol has it: protocolVersion, capabilities.tools.',
    )
    expect(told('Invalid result for tools/list: not an object')).toBe(
      'The server’s answer to tools/list is not as the protocol has it: not an object.',
    )
    expect(told('odd')).toBe('The server’s answer is not as the protocol has it.')
  })
})
