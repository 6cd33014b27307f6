"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.default = void 0;var _config = await jitiImport("vitest/config");

// the client reads these where its options are silent, and so would the tests
const variables = [
'STET_API_KEY',
'STET_BASE_URL',
'STET_PROJECT_ID',
'STET_LOG',
'LATITUDE_API_KEY',
'GATEWAY_HOSTNAME'];var _default = exports.default =


(0, _config.defineConfig)({
  test: {
    // Vitest would leave one of two cores to itself, and take one file after the other.
    maxWorkers: 2,
    env: Object.fromEntries(variables.map((name) => [name, ''])),
    // Far above what anything takes: a busy machine, or one that stands still for a while, makes no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000
  }
}); /* v9-96b99975272453c5 */
