import { defineCommand, type Input } from '../src/command.ts'
import { parameterFlags, parseParameters } from '../src/ui/parameters.ts'
import { parseShown } from '../src/ui/run-output.ts'

const about = { summary: 'Does nothing.', examples: [], run: async () => undefined }

defineCommand({
  ...about,
  flags: { '--dry-run': '', '-m, --name <name>': '', '--port <port> $PORT': '', '--no-pull': '', ...parameterFlags },
  parse(raw) {
    const { dryRun, pull, name, port, param } = raw.flags
    const values: [boolean, boolean, string | undefined, string | undefined, string[]] = [
      dryRun,
      pull,
      name,
      port,
      param,
    ]
    // @ts-expect-error no such flag
    raw.flags.typo
    // @ts-expect-error the name of the flag has no hyphens
    raw.flags['dry-run']
    // @ts-expect-error `--no-pull` sets `pull`
    raw.flags.noPull
    // @ts-expect-error the command lacks `--show`
    parseShown(raw)
    return [values, parseParameters(raw)]
  },
})

defineCommand({
  ...about,
  parse(raw) {
    // @ts-expect-error the command has no flags
    return raw.flags.typo
  },
})

declare const raw: Input<typeof parameterFlags>
// @ts-expect-error no such flag
raw.flags.parameter
