// Prints `N passed, N failed` from vitest's JSON report, and exits with 1 unless every test ran and passed.
//
//   node summary.mjs <report.json> <exit code of vitest>

import { readFileSync } from 'node:fs'

const [path, exitCode] = process.argv.slice(2)
let passed = 0
let failed = 0
try {
  const report = JSON.parse(readFileSync(path, 'utf8'))
  passed = report.numPassedTests
  failed = report.numFailedTests
  for (const file of report.testResults) {
    // A file that could not be loaded has no tests to count.
    if (file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed')) failed++
  }
} catch (error) {
  console.error(`There is no usable test report: ${error.message}`)
}
if (passed + failed === 0) console.error('No test ran.')
// Errors outside tests, a crash, or no tests at all: at least one failure, whatever was counted.
if (failed === 0 && (exitCode !== '0' || passed === 0)) failed = 1
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
