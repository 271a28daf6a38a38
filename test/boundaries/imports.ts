import { readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'vite'

/** One module specifier in a file. */
export interface Import {
  readonly specifier: string
  /** Erased before the program runs: `import type`, `export type … from`, `import('x').Y` as a type. */
  readonly typeOnly: boolean
  readonly line: number
}

/** Every import, re-export, dynamic import and type reference of a TypeScript or JavaScript file. */
export function importsOf(path: string): Import[] {
  const source = readFileSync(path, 'utf8')
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`)
  const found: Import[] = []
  const add = (specifier: string, typeOnly: boolean, start: number) => {
    found.push({ specifier, typeOnly, line: source.slice(0, start).split('\n').length })
  }
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value, node.importKind === 'type', node.start),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === 'type', node.start),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node.source.value, node.exportKind === 'type', node.start)
    },
    ImportExpression: (node) => add(literal(node.source, source), false, node.start),
    TSImportType: (node) => add(node.source.value, true, node.start),
    CallExpression: ({ callee, arguments: [argument], start }) => {
      if (callee.type === 'Identifier' && callee.name === 'require' && argument)
        add(literal(argument, source), false, start)
    },
  }).visit(program)
  return found
}

/** The text of a literal, or the source of anything else, so that a computed name is seen as it is written. */
function literal(
  node: { type: string; start: number; end: number; value?: unknown },
  source: string,
): string {
  return typeof node.value === 'string' ? node.value : source.slice(node.start, node.end)
}
