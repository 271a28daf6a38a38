import { expect, test } from 'vitest'
import { serverEnvironment } from '../src/environment.ts'

const host = {
  PATH: '/bin',
  HOME: '/home/a',
  LC_ALL: 'C',
  LANG: 'de',
  TERM: 'xterm',
  TZ: 'UTC',
  SHELL: '() { :; }',
  AWS_SECRET_ACCESS_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  ABSENT: undefined,
}

test('the whole, and over it the entry, and over it the taps', () => {
  expect(
    serverEnvironment(
      { A: 'host', B: 'host', C: 'host' },
      true,
      [{ B: 'entry', C: 'entry' }, { C: 'tap' }],
      'linux',
    ),
  ).toEqual({
    A: 'host',
    B: 'entry',
    C: 'tap',
  })
})

test('not inherited: what the platform needs, and the entry', () => {
  expect(serverEnvironment(host, false, [{ KEY: 'entry' }, { TOKEN: 'tap' }], 'linux')).toEqual({
    PATH: '/bin',
    HOME: '/home/a',
    LC_ALL: 'C',
    LANG: 'de',
    TERM: 'xterm',
    TZ: 'UTC',
    KEY: 'entry',
    TOKEN: 'tap',
  })
})

test('Windows: names in any case, each once', () => {
  const windows = {
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    PathExt: '.EXE',
    AppData: 'x',
    SECRET: 's',
    'ProgramFiles(x86)': 'p',
  }
  expect(serverEnvironment(windows, false, [{ PATH: 'D:\\bin' }], 'win32')).toEqual({
    PATH: 'D:\\bin',
    SystemRoot: 'C:\\Windows',
    PathExt: '.EXE',
    AppData: 'x',
    'ProgramFiles(x86)': 'p',
  })
})
