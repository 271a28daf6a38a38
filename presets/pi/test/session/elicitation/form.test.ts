import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { form, person, type Shown } from './person.ts'

const NAME = { name: { type: 'string', title: 'Name' } }

describe('a form', () => {
  it('is shown as the server’s, asked field by field, and looked over before it is sent', async () => {
    const { ask, shown, relays } = person('Answer', 'Ada', '41', 'Send')
    const answer = await ask(
      form(
        { ...NAME, age: { type: 'integer', title: 'Age', description: 'In years', minimum: 0 } },
        ['name'],
        'Hello.\nThe user says: yes',
      ),
    )
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', age: 41 } })
    expect(shown).toEqual([
      {
        title: [
          'The MCP server "docs" asks you:',
          '  │ Hello.',
          '  │ The user says: yes',
          'It wants to know:',
          '  1. Name (text, required)',
          '  2. Age (a whole number from 0)',
          'What you answer goes to "docs", when you have looked it over.',
        ].join('\n'),
        options: ['Answer', 'Decline', 'Not now'],
      },
      { title: 'The MCP server "docs" asks, 1 of 2:\n  │ Name\nText, required.', options: undefined },
      {
        title: [
          'The MCP server "docs" asks, 2 of 2:',
          '  │ Age',
          '  │ In years',
          'A whole number from 0, optional.',
          'Enter without text leaves it out.',
        ].join('\n'),
        options: undefined,
      },
      {
        title: 'Send this to the MCP server "docs"? Choose an answer to change it.',
        options: ['Send', '1. Name: Ada', '2. Age: 41', 'Decline'],
      },
    ])
    // No channel answers for the person.
    expect(relays).toEqual([false, false, false, false])
  })

  it.each<[string, readonly (string | undefined)[], string]>([
    ['declined at once', ['Decline'], 'decline'],
    ['put off', ['Not now'], 'cancel'],
    ['left at once', [undefined], 'cancel'],
    ['left at a field', ['Answer', undefined], 'cancel'],
    ['left at the end', ['Answer', 'Ada', undefined], 'cancel'],
    ['declined at the end', ['Answer', 'Ada', 'Decline'], 'decline'],
  ])('may be %s', async (_how, answers, action) => {
    expect(await person(...answers).ask(form(NAME, ['name']))).toEqual({ action })
  })

  it('is asked again about what does not fit, with what is wrong', async () => {
    const { ask, shown } = person('Answer', '', 'x', '7', 'Send')
    const answer = await ask(form({ n: { type: 'number', title: 'N', maximum: 9 } }, ['n']))
    expect(answer).toEqual({ action: 'accept', content: { n: 7 } })
    expect(shown.slice(2, 4).map(({ title }) => title.split('\n')[0])).toEqual([
      '! It is required.',
      '! That is no number.',
    ])
  })

  it('is left by whoever answers wrong without end', async () => {
    const { ask, shown } = person('Answer', ...Array.from({ length: 50 }, () => 'no number'))
    expect(await ask(form({ n: { type: 'number' } }))).toEqual({ action: 'cancel' })
    expect(shown).toHaveLength(11)
  })

  it('takes defaults with Enter, and leaves out what is optional', async () => {
    const { ask, shown } = person(
      'Answer',
      '',
      '',
      '',
      (dialog) => dialog.options?.[0],
      'Leave it out',
      'Send',
    )
    const answer = await ask(
      form({
        a: { type: 'string', default: 'as it was' },
        b: { type: 'integer', default: 3 },
        c: { type: 'string' },
        d: { type: 'boolean', default: false },
        e: { type: 'boolean', default: true },
      }),
    )
    expect(answer).toEqual({ action: 'accept', content: { a: 'as it was', b: 3, d: false } })
    expect(shown[1]?.title).toContain('Enter without text takes:\n  │ as it was')
    expect(shown[4]?.options).toEqual(['No (default)', 'Yes', 'Leave it out'])
  })

  it('has values to choose from, one or several, told apart where they read the same', async () => {
    const one = {
      type: 'string',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'x', title: 'Red' },
        { const: 'y', title: 'Red' },
      ],
      default: 'x',
    }
    const some = {
      type: 'array',
      minItems: 2,
      items: { type: 'string', enum: ['a', 'b', 'c'] },
      default: ['a', 'b'],
    }
    const { ask, shown } = person('Answer', 'Red (3)', '[x] a', 'Done', '[ ] c', 'Done', 'Send')
    const answer = await ask(form({ one, some }, ['one', 'some']))
    expect(answer).toEqual({ action: 'accept', content: { one: 'y', some: ['b', 'c'] } })
    expect(shown[1]?.options).toEqual(['Red (2) (default)', 'Red', 'Red (3)'])
    expect(shown[4]?.title).toContain('! Choose 2 or more.')
  })

  it('has every value chosen as what it is shown as, whatever its label imitates', async () => {
    const titles = ['Red', 'Red', 'Red (2)', 'Leave it out', 'Red', 'Red (default)', 'Red (2)']
    const options = titles.map((title, n) => ({ const: `v${n}`, title }))
    const one = { type: 'string', title: 'One', oneOf: options }
    const some = { type: 'array', title: 'Some', items: { anyOf: options } }
    const default_ = { ...one, default: 'v0' }
    const taken = person('Answer', 'Red (default) (6)', 'Send')
    expect(await taken.ask(form({ default_ }))).toEqual({ action: 'accept', content: { default_: 'v5' } })
    for (const [n] of options.entries()) {
      const nth = ({ options: shown = [] }: Shown) => shown[n]
      const ticked = ({ options: shown = [] }: Shown) => shown[n + 1]
      const { ask, shown } = person('Answer', nth, ticked, 'Done', 'Send')
      expect(await ask(form({ one, some }))).toEqual({
        action: 'accept',
        content: { one: `v${n}`, some: [`v${n}`] },
      })
      const labels = shown[1]?.options ?? []
      expect(new Set(labels).size).toBe(options.length + 1)
      expect(labels.at(-1)).toBe('Leave it out')
      // What is looked over says which of them it is.
      expect(shown.at(-1)?.options).toEqual([
        'Send',
        `1. One: ${labels[n]}`,
        `2. Some: ${labels[n]}`,
        'Decline',
      ])
    }
    const { ask } = person('Answer', (dialog) => dialog.options?.at(-1), 'Done', 'Send')
    expect(await ask(form({ one, some }))).toEqual({ action: 'accept', content: {} })
  })

  it('says how many values are chosen where they are too many to be shown', async () => {
    const values = Array.from({ length: 60 }, (_, n) => `value number ${n}`)
    const some = { type: 'array', title: 'Some', items: { type: 'string', enum: values }, default: values }
    const { ask, shown } = person('Answer', 'Done', 'Send')
    expect(await ask(form({ some }))).toEqual({ action: 'accept', content: { some: values } })
    expect(shown.at(-1)?.options?.[1]).toMatch(/^1\. Some: 60 chosen: value number 0, .*…$/)
  })

  it('can be changed while it is looked over', async () => {
    const { ask, shown } = person('Answer', 'Ada', '1. Name', 'Bob', '1. Name', undefined, 'Send')
    expect(await ask(form(NAME, ['name']))).toEqual({ action: 'accept', content: { name: 'Bob' } })
    expect(shown[3]?.title).toContain('Enter without text takes:\n  │ Ada')
  })

  it('leaves out what was filled in, where that is not required', async () => {
    const fields = form({
      a: { type: 'string', title: 'A', default: 'theirs' },
      b: { type: 'integer', title: 'B' },
    })
    const first = person(
      'Answer',
      '',
      '7',
      '1. A',
      'Leave it out',
      '2. B',
      'Enter something else',
      '8',
      'Send',
    )
    expect(await first.ask(fields)).toEqual({ action: 'accept', content: { b: 8 } })
    expect(first.shown.at(-1)?.options).toEqual(['Send', '1. A: (left out)', '2. B: 8', 'Decline'])
    const second = person('Answer', '', '7', '2. B', undefined, '2. B', 'Leave it out', 'Send')
    expect(await second.ask(fields)).toEqual({ action: 'accept', content: { a: 'theirs' } })
  })

  it('without fields wants a yes, which is not what Enter takes', async () => {
    const { ask, shown } = person('Yes')
    expect(await ask(form({}, [], 'Delete it?'))).toEqual({ action: 'accept', content: {} })
    expect(shown[0]?.options).toEqual(['Not now', 'Yes, accept', 'Decline'])
    expect(await person('Not now').ask(form({}))).toEqual({ action: 'cancel' })
  })

  it.each([
    ['a field called so', form({ apiKey: { type: 'string' } })],
    ['a title', form({ a: { type: 'string', title: 'Your password' } })],
    ['a description', form({ a: { type: 'string', description: 'The 6-digit OTP' } })],
    ['a message', form({ a: { type: 'string' } }, [], 'Please enter your access token')],
    ...['user_pin', 'otp_code', 'card_cvv', 'PINCode', 'mfaCode'].map((name): [string, object] => [
      name,
      form({ [name]: { type: 'string' } }),
    ]),
    ...['Passwort', 'Mot de passe', 'Contraseña', 'Пароль', '密码', 'パスワード'].map(
      (title): [string, object] => [title, form({ a: { type: 'string', title } })],
    ),
  ])('that asks for a secret is warned of: %s', async (_where, params) => {
    const { ask, shown } = person(undefined)
    await ask(params)
    expect(shown[0]?.title).toContain('! Enter no password, key or code')
  })

  it('that asks for none is not warned of', async () => {
    const { ask, shown } = person(undefined)
    await ask(form({ ...NAME, email: { type: 'string', format: 'email', description: 'To write to you' } }))
    await ask(
      form({ pinned: { type: 'boolean' }, spinCount: { type: 'integer' }, tint_color: { type: 'string' } }),
    )
    for (const { title } of shown) expect(title).not.toContain('!')
  })

  it('cannot speak as Tapline, whatever its words', async () => {
    const odd = fc.string({ unit: 'binary', maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(odd, odd, odd, async (message, title, description) => {
        const { ask, shown } = person('Answer', undefined)
        await ask(
          form({ a: { type: 'string', title, description } }, ['a'], `${message}\nThe MCP server "x" asks`),
        )
        for (const { title: drawn } of shown) {
          const own = drawn.split('\n').filter((line) => !line.startsWith('  '))
          expect(own[0]).toMatch(/^The MCP server "docs" asks/)
          for (const line of own)
            expect(line).toMatch(
              /^(?:The MCP server "docs" asks|It wants to know|What you answer|! Enter no|Text, req)/,
            )
          expect(drawn).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u)
        }
      }),
    )
  })
})
