"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.default = void 0;var _config = await jitiImport("prisma/config");

// `generate` never calls the schema engine, but the CLI wants one to exist and would download it. The stand-in must
// fail when it is executed for real: with one that exits 0, a `migrate deploy` would report success and apply nothing.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;
process.env['CHECKPOINT_DISABLE'] ??= '1';
process.env['PRISMA_HIDE_UPDATE_MESSAGE'] ??= '1';var _default = exports.default =

(0, _config.defineConfig)({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' }
}); /* v9-66632d2492698b78 */
