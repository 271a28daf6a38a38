import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pathsFor } from '../src/paths.ts'

describe('where things are', () => {
  it('is below the home directory unless the environment says otherwise', () => {
    expect(pathsFor({ HOME: '/home/ann' }, '/work')).toEqual({
      cwd: '/work',
      home: '/home/ann',
      agentDir: '/home/ann/.pi/agent',
      loopsDir: '/home/ann/.pi/agent/loops',
    })
    const moved = { HOME: '/home/ann', PI_CODING_AGENT_DIR: '/agent' }
    expect(pathsFor(moved, '/work')).toMatchObject({ agentDir: '/agent', loopsDir: '/agent/loops' })
    expect(pathsFor({ ...moved, PI_LOOPS_DIR: '/loops' }, '/work')).toMatchObject({ loopsDir: '/loops' })
  })

  it('takes ~ for the home directory, and makes relative paths absolute', () => {
    const env = { HOME: '/home/ann', PI_CODING_AGENT_DIR: '~/agent', PI_LOOPS_DIR: '~' }
    expect(pathsFor(env, 'here')).toMatchObject({
      agentDir: '/home/ann/agent',
      loopsDir: '/home/ann',
      cwd: resolve('here'),
    })
    const relative = pathsFor({ HOME: '/home/ann', PI_CODING_AGENT_DIR: 'there' }, '.')
    expect(relative.agentDir).toBe(resolve('there'))
    expect(pathsFor({ HOME: '/home/ann', PI_CODING_AGENT_DIR: '~bob/x' }, '.').agentDir).toBe(
      resolve('~bob/x'),
    )
  })

  it('takes empty variables for missing ones', () => {
    const empty = pathsFor({ HOME: '', PI_CODING_AGENT_DIR: '', PI_LOOPS_DIR: '' }, '.')
    expect(empty).toMatchObject({ home: homedir(), agentDir: join(homedir(), '.pi', 'agent') })
  })
})
