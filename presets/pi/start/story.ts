/**
 * The main job: the real pi with Tapline from this checkout, the example push server over stdio and
 * server-everything over streamable HTTP, all in a scratch directory, with a scripted local model. In
 * a terminal it opens pi's own interface; without one it plays the story and says what happened.
 */
import { playStory } from './played.ts'
import { openTerminal } from './terminal.ts'
import { setStage } from './stage.ts'

const interactive = process.stdin.isTTY && process.stdout.isTTY && !process.argv.includes('--play')
const stage = await setStage()
try {
  process.exitCode = interactive ? await openTerminal(stage) : await playStory(stage)
} finally {
  await stage.close()
}
