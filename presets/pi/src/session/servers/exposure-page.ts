import type { Exposure } from '@tapline/core'
import type { ChangeScope } from '@tapline/headless'
import { pad } from '../screen/columns.ts'
import { type Hint, hintLines } from '../screen/hints.ts'
import type { Action } from '../screen/keys.ts'
import { BLANK, line } from '../screen/line.ts'
import { Position } from '../screen/position.ts'
import type { Sheet } from '../screen/sheet.ts'
import { beginChange, hasProjectScope, savedText } from './changing.ts'
import { EXPOSURES } from './exposures.ts'
import { type Page, type Panel, type Room, titleLine } from './page.ts'
import { count } from './words.ts'

const CHOICES = Object.entries(EXPOSURES) as readonly (readonly [Exposure, string])[]

/** How a server's tools reach the model, to choose. */
export function createExposurePage(panel: Panel, name: string): Page {
  return new ExposurePage(panel, name)
}

class ExposurePage implements Page {
  readonly #panel: Panel
  readonly #name: string
  readonly #position = new Position()
  #where: ChangeScope = 'here'

  constructor(panel: Panel, name: string) {
    this.#panel = panel
    this.#name = name
    const current = panel.scope.tapline.server(name)?.spec.exposure
    this.#position.index = Math.max(
      0,
      CHOICES.findIndex(([exposure]) => exposure === current),
    )
  }

  sheet({ width }: Room): Sheet {
    const server = this.#panel.scope.tapline.server(this.#name)
    const both = server !== undefined && hasProjectScope(server, this.#panel)
    const hints: readonly Hint[] = [
      ['arrows', 'move'],
      ['confirm', 'save'],
      ...(both
        ? [['tab', this.#where === 'here' ? 'in this project alone' : 'wherever it is used'] as const]
        : []),
      ['cancel', 'back'],
    ]
    const keys = hintLines(hints, this.#panel.keybindings, width)
    const own = Object.keys(server?.spec.toolExposure ?? {}).length
    const saved = server === undefined ? '' : savedText(server, this.#where, this.#panel)
    return {
      head: [
        titleLine(`Exposure of ${this.#name}`, { color: 'muted', text: saved }),
        ...(own === 0
          ? []
          : [
              line(
                'muted',
                ` ${count(own, 'entry', 'entries')} of toolExposure say${own === 1 ? 's' : ''} otherwise for some tools.`,
              ),
            ]),
        BLANK,
      ],
      rows: {
        count: CHOICES.length,
        line: (index) => {
          const [exposure, meaning] = CHOICES[index]!
          const isSelected = index === this.#position.index
          return [
            { color: 'accent', text: isSelected ? ' › ' : '   ' },
            { color: 'success', text: exposure === server?.spec.exposure ? '• ' : '  ' },
            { color: isSelected ? 'accent' : 'text', text: pad(exposure, 10), bold: isSelected },
            { color: 'muted', text: meaning },
          ]
        },
      },
      at: { selected: this.#position.index },
      mostRows: CHOICES.length,
      feet: [[BLANK, ...keys], keys],
    }
  }

  drawn(page: number): void {
    this.#position.page = page
  }

  act(action: Action): void {
    if (this.#position.move(action, CHOICES.length)) return
    const server = this.#panel.scope.tapline.server(this.#name)
    if (action === 'tab' && server && hasProjectScope(server, this.#panel))
      this.#where = this.#where === 'here' ? 'project' : 'here'
    if (action === 'confirm') this.#save()
  }

  type(): void {}

  #save(): void {
    const [exposure] = CHOICES[this.#position.index] ?? []
    const current = this.#panel.scope.tapline.server(this.#name)?.spec.exposure
    this.#panel.leave(this)
    if (exposure === undefined || (exposure === current && this.#where === 'here')) return
    beginChange(this.#panel, this.#name, { exposure }, this.#where)
  }
}
