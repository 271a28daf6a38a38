import { expect, it } from 'vitest'
import { approvalOnCommandLine } from '../../../presets/pi/src/session/approval.ts'

it.each([
  ['', undefined],
  ['-p hello', undefined],
  ['--approve', true],
  ['-a', true],
  ['--no-approve', false],
  ['-na', false],
  // The last one holds.
  ['-a -na', false],
  ['--no-approve --approve', true],
  // Values are no flags.
  ['--append-system-prompt -a', undefined],
  ['--name -a', undefined],
  ['-n --approve -na', false],
  ['-e -a', undefined],
  ['--models -a -a', true],
  ['--api-key --no-approve -a', true],
  // These take no value that begins with a dash.
  ['-p -a', true],
  ['--mode -a', true],
  ['--list-models -a', true],
  ['--use-theme -na', false],
  ['--of-an-extension -a', true],
  // Nothing behind this is a flag.
  ['-- -a', undefined],
  ['-a -- --no-approve', true],
  ['-p -- -a', undefined],
  ['--name -- -a', true],
  // Not pi's.
  ['--approve=true', undefined],
  ['@-a', undefined],
])('%s', (line, approved) => {
  expect(approvalOnCommandLine(['node', 'pi', ...line.split(' ')])).toBe(approved)
})
