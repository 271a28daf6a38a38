import { type Piece, piecesOf } from './pieces.ts'
import type { Prompt, PromptArgument } from './source.ts'

/** What was typed behind a command, as arguments. */
export interface ReadArguments {
  readonly values: ReadonlyMap<string, string>
  /** The required arguments that have no value, in the server's order. */
  readonly missing: readonly PromptArgument[]
  /** What no argument is left for. */
  readonly surplus?: string
}

/** What is being typed: the value of one argument. */
export interface TypedArgument {
  readonly argument: string
  /** The value as far as it was typed, without an opening quote. */
  readonly value: string
  /** What is typed before it and stays. */
  readonly before: string
  /** The arguments that have their values. */
  readonly given: ReadonlyMap<string, string>
}

/**
 * Gives what was typed to the arguments of a prompt: `name=value` to the one it names, everything else in order to those
 * that are not named. The last one of these takes all that is left, as it stands there.
 */
export function readArguments(prompt: Prompt, text: string): ReadArguments {
  const names = prompt.arguments.map(({ name }) => name)
  const pieces = piecesOf(text, names)
  const named = namedIn(pieces)
  const free = names.filter((name) => !named.has(name))
  const words = pieces.filter((piece) => piece.name === undefined)
  const values = new Map([...named, ...inOrder(text, pieces, free)])
  return {
    values,
    missing: prompt.arguments.filter(({ name, required }) => required && !values.has(name)),
    ...(free.length === 0 && words.length > 0 ? { surplus: restOf(text, pieces, words) } : {}),
  }
}

/** Which argument is being typed at the end of a text. Undefined where there is none. */
export function typedArgument(prompt: Prompt, text: string): TypedArgument | undefined {
  const names = prompt.arguments.map(({ name }) => name)
  const pieces = piecesOf(text, names)
  const last = pieces.at(-1)
  const current = pieces.find(({ open }) => open) ?? (last?.end === text.length ? last : undefined)
  const earlier = current ? pieces.slice(0, pieces.indexOf(current)) : pieces
  const named = namedIn(earlier)
  const free = names.filter((name) => !named.has(name) && name !== current?.name)
  const place = placeIn(text, pieces, { current, earlier, free })
  if (!place) return undefined
  const given = new Map([...named, ...inOrder(text, earlier, free)])
  given.delete(place.argument)
  return { argument: place.argument, value: place.value, before: text.slice(0, place.start), given }
}

interface Typing {
  /** The piece at the end of the text; undefined behind whitespace. */
  readonly current: Piece | undefined
  readonly earlier: readonly Piece[]
  /** The arguments that no piece names. */
  readonly free: readonly string[]
}

function placeIn(
  text: string,
  pieces: readonly Piece[],
  { current, earlier, free }: Typing,
): { readonly argument: string; readonly value: string; readonly start: number } | undefined {
  const value = current?.open === true ? text.slice(current.valueStart + 1) : (current?.value ?? '')
  if (current?.name !== undefined) return { argument: current.name, value, start: current.valueStart }
  const words = earlier.filter((piece) => piece.name === undefined)
  const next = free[words.length]
  if (next !== undefined) return { argument: next, value, start: current?.start ?? text.length }
  // The last argument has begun already, and takes all that follows.
  const [argument, first] = [free.at(-1), words[free.length - 1]]
  if (argument === undefined || !first) return undefined
  const isWhole = pieces.slice(pieces.indexOf(first)).every(({ name }) => name === undefined)
  return isWhole ? { argument, value: text.slice(first.start), start: first.start } : undefined
}

/** A value as it has to be typed to be read as one. */
export function quoted(prompt: Prompt, value: string): string {
  const bare = value.replace(/^--/, '')
  // With a name that has `=` in it, also what stands before the value is part of what it looks like.
  const looksNamed = prompt.arguments.some(
    ({ name }) => bare.startsWith(`${name}=`) || (name.includes('=') && value.includes('=')),
  )
  const isWord = value !== '' && !looksNamed && !/\s|^["']/.test(value)
  return isWord ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

function namedIn(pieces: readonly Piece[]): Map<string, string> {
  return new Map(pieces.flatMap(({ name, value }) => (name === undefined ? [] : [[name, value] as const])))
}

/** What is not named, for the arguments in order; the last one takes the rest. */
function inOrder(text: string, pieces: readonly Piece[], free: readonly string[]): Map<string, string> {
  const words = pieces.filter((piece) => piece.name === undefined)
  const last = free.length - 1
  return new Map(
    free
      .slice(0, words.length)
      .map((name, index) => [
        name,
        index === last ? restOf(text, pieces, words.slice(index)) : words[index]!.value,
      ]),
  )
}

/** One word without its quotes; several as they stand there, but for what names other arguments between them. */
function restOf(text: string, pieces: readonly Piece[], words: readonly Piece[]): string {
  const [first, second] = words
  if (!first || !second) return first?.value ?? ''
  const runs: string[] = []
  let begin: number | undefined
  let end = 0
  for (const piece of pieces.slice(pieces.indexOf(first))) {
    if (piece.name === undefined) {
      begin ??= piece.start
      end = piece.end
    } else if (begin !== undefined) {
      runs.push(text.slice(begin, end))
      begin = undefined
    }
  }
  if (begin !== undefined) runs.push(text.slice(begin, end))
  return runs.join(' ')
}
