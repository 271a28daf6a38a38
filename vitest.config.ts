import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Most tests wait for processes: four at a time keep two cores busy, and vitest would run one.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'core/test/**/*.test.ts',
            'plugins/*/test/**/*.test.ts',
            'presets/*/test/**/*.test.ts',
            'test/boundaries/**/*.test.ts',
          ],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'system',
          globalSetup: 'test/drivers/loader-caches.ts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/boundaries/**', '**/node_modules/**'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
