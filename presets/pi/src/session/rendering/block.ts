import type { ToolDefinition } from '@earendil-works/pi-coding-agent'

/** What pi draws. */
export type Component = ReturnType<NonNullable<ToolDefinition['renderCall']>>

/**
 * Lines that are made for a width and kept until the width or what they are made of changes: pi draws everything that
 * a transcript holds in every frame.
 */
export class Block implements Component {
  #draw: (width: number) => readonly string[] = () => []
  #width: number | undefined
  #lines: string[] = []

  /** The block that pi kept of an earlier drawing, or a new one, from now on with the lines that `draw` makes. */
  static of(earlier: Component | undefined, draw: (width: number) => readonly string[]): Block {
    const block = earlier instanceof Block ? earlier : new Block()
    block.#draw = draw
    block.#width = undefined
    return block
  }

  render(width: number): string[] {
    if (this.#width !== width) {
      this.#lines = [...this.#draw(width)]
      this.#width = width
    }
    return this.#lines
  }

  invalidate(): void {
    this.#width = undefined
  }
}
