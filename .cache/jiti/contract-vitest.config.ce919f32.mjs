"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.default = void 0;var _config = await jitiImport("vitest/config");

// Far above what anything takes: a busy machine, or one that stands still for a while, makes no failure.
var _default = exports.default = (0, _config.defineConfig)({ test: { testTimeout: 300_000, hookTimeout: 300_000 } }); /* v9-424c65e5d827ffd7 */
