import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRule, parseRule } from '../src/index.ts'

describe('a fixed time', () => {
  it.each([
    'every hour',
    'Hourly',
    'run it daily',
    'daily at 9',
    'Daily, check x',
    'every 5 minutes',
    'every Monday',
    'every other day',
    'each weekday',
    'once a day',
    'twice an hour',
    'three times per week',
    'on weekdays',
    'cron',
    'crontab',
    'a scheduled job',
    'as a cron job',
    'run via cron',
    '*/5 * * * *',
    '0 9 * * 1',
    '@daily',
    'at 9am',
    'at 09:00',
    'it is 9am',
    'the time is 09:30',
    'it is noon',
    'in 10 minutes',
    'tomorrow',
    'nightly',
    '每天',
    '每小时',
    '每小時',
    '每 5 分钟',
    '每两个小时',
    '每周一',
    '每週',
    '每日',
    '定时任务',
    '定時任務',
    '每隔两小时',
    '每天运行a.sh',
  ])('is refused with where it belongs: %s', (text) => {
    const refusal = checkRule({ condition: text, action: 'tell me' })
    expect(refusal).toMatch(/^".+" is a fixed time, .* \/cron add/)
  })

  it('is refused in an action as well', () => {
    expect(checkRule({ condition: 'the build is red', action: 'run the backup every day' })).toContain(
      '"every day"',
    )
  })

  it.each([
    'daily-digest.log exists',
    'the daily build fails',
    "the team's weekly notes change",
    'a weekly report is missing',
    'build.done exists',
    '/etc/crontab changes',
    'the cron daemon stops',
    'every test passes',
    'hourly.csv appears',
    'each file in logs/daily is older than 3 days',
    'the log says "runs every day"',
    "it says 'every hour'",
    '每日报告.md 存在',
    'nightly-tests is red',
    '10 errors per minute are logged',
    'the disk is at 90%',
    '/var/every day',
    'https://example.org/daily/report changes',
    'the server restarts twice',
    '文件存在',
    'the build fails after 18:00',
    'a 5 * 3 grid is shown',
    'it is raining at 9 sensors',
  ])('is none in names, quotes and things: %s', (text) => {
    expect(checkRule({ condition: text, action: 'tell me' })).toBeUndefined()
  })

  it('is looked for in linear time, whatever the text', () => {
    const hostile = [' every', 'the a ', '* ', '"', "'s ", 'daily ', '每', 'when '].map((part) =>
      part.repeat(1_200).slice(0, 7_900),
    )
    const at = performance.now()
    for (const text of hostile) checkRule({ condition: `x${text}`, action: text })
    expect(performance.now() - at).toBeLessThan(1_000)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const answer = checkRule({ condition: text, action: 'x' })
        expect(['string', 'undefined']).toContain(typeof answer)
      }),
    )
  })
})

describe('a rule in one sentence', () => {
  it.each<[string, string, string]>([
    ['when ~/build.done exists, run cargo test and show it', '~/build.done exists', 'cargo test and show it'],
    ['if a then b', 'a', 'b'],
    ['When npm run build fails, notify me', 'npm run build fails', 'notify me'],
    ['when the test run fails, then tell me', 'the test run fails', 'tell me'],
    ['disk is full, run cleanup', 'disk is full', 'cleanup'],
    ['as soon as x is there, do y', 'x is there', 'do y'],
    ['if a bitcoin costs 100,000 dollars, say so', 'a bitcoin costs 100,000 dollars', 'say so'],
    ['when out.txt holds "yes, sir", greet', 'out.txt holds "yes, sir"', 'greet'],
    ['when out.txt holds `if a then b`, greet', 'out.txt holds `if a then b`', 'greet'],
    ['every time the build is red, tell me why', 'the build is red', 'tell me why'],
    ['当 $HOME/helloworld 存在的时候，打印它的内容', '$HOME/helloworld 存在', '打印它的内容'],
    ['当文件存在时，执行 ls', '文件存在', 'ls'],
    ['如果 a.txt 存在，就删除它', 'a.txt 存在', '删除它'],
    ['如果规则匹配，通知我', '规则匹配', '通知我'],
    ['每次构建失败时，告诉我', '构建失败', '告诉我'],
    ['当 a 出现的时候执行 b', 'a 出现', 'b'],
  ])('is split: %s', (text, condition, action) => {
    expect(parseRule(text)).toMatchObject({ condition, action, clear: true })
  })

  it.each<[string, string, string]>([
    ['x exists run y', 'x exists', 'y'],
    ['如果构建失败则通知我', '构建失败', '通知我'],
    ['when the file, named x, exists, delete it', 'the file', 'named x, exists, delete it'],
  ])('that may mean something else is no more than a guess: %s', (text, condition, action) => {
    expect(parseRule(text)).toMatchObject({ condition, action, clear: false })
  })

  it.each<[string, boolean, boolean]>([
    ['when x exists, delete it', true, false],
    ['whenever x exists, delete it', false, false],
    ['Every time that x exists, say so', false, true],
    ['each time x changes, run npm test', false, false],
    ['每当 x 存在的时候，删除它', false, false],
    ['when the build has failed, then say which commit broke it', true, true],
    ['when the build has failed, find out why and let me know', true, true],
    ['如果 a.txt 存在，就告诉我', true, true],
    ['when the messages folder is full, run cleanup', true, false],
  ])('says how often, and whether anybody is to hear of it: %s', (text, fireOnce, promoteToChat) => {
    expect(parseRule(text)).toMatchObject({ fireOnce, promoteToChat })
  })

  it.each([
    ['', 'usage: /new-trigger <when condition, run action>'],
    ['  ', 'usage: /new-trigger <when condition, run action>'],
    ['just words', 'could not split the trigger into a condition and action'],
    ['when x,', 'condition and action must both be non-empty'],
    [', run x', 'condition and action must both be non-empty'],
  ])('that is none says what is missing: %j', (text, error) => {
    expect(parseRule(text)).toEqual({ error: expect.stringContaining(error) })
  })

  it('is never split into nothing, and quickly', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parsed: object = parseRule(`when ${text}, run ${text}`)
        for (const part of Object.values(parsed).filter((value) => typeof value === 'string'))
          expect(part.trim()).not.toBe('')
      }),
    )
    const at = performance.now()
    for (const part of [',', 'when ,', ' then', ' run ', '时', '则 '].map((part) => part.repeat(2_000)))
      parseRule(`when ${part}`)
    expect(performance.now() - at).toBeLessThan(1_000)
  })
})
