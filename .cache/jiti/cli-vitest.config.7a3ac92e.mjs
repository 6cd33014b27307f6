"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.default = void 0;var _config = await jitiImport("vitest/config");var _default = exports.default =

(0, _config.defineConfig)({
  test: {
    pool: 'forks',
    // The end-to-end files hold a server each: more than two at once only wait for each other on a small machine.
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    // Far above what anything takes: a busy machine makes no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
}); /* v9-52ddc3c284c0e246 */
