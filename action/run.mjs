/**
 * The steps of the action: checks the prompts, keeps the draft of a pull request and its comment, and publishes what
 * reaches the default branch. Prompts are only read and sent by the command line of stet. Nothing from the event becomes
 * part of a command line that a shell reads.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The server refuses names of more than 255 characters. */
const longestName = 200
/** GitHub refuses comments of more than 65,536 characters. */
const longestText = 60_000
const apiLimitMs = 30_000

/** The exit code of `stet eval` without a clear result. */
const inconclusive = 12

const { env } = process
const event = JSON.parse(readFileSync(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'))
const repository = env['GITHUB_REPOSITORY'] ?? ''
// Several folders of a repository may have prompts.
const folder = relative(env['GITHUB_WORKSPACE'] ?? '.', process.cwd())

// The CLI gets no token of GitHub, and an empty input counts as absent.
const cliEnv = Object.fromEntries(Object.entries(env).filter(([name, value]) => value && !/TOKEN$/.test(name)))
const evaluates = env['STET_ACTION_EVAL'] === 'true'
const deletes = env['STET_ACTION_DELETE'] === 'true' ? ['--delete'] : []

process.exitCode = await run()

/** @returns {Promise<number>} the exit code: that of the command that failed */
async function run() {
  if (env['RUNNER_OS'] === 'Windows') {
    say('error', 'This action needs a runner with Linux or macOS: it starts the command line without a shell.')
    return 2
  }
  const name = env['GITHUB_EVENT_NAME']
  if (name === 'pull_request') return onPullRequest(event.pull_request)
  if (name === 'push') return onPush()
  say('error', `This action runs on pull_request and push, not on ${name}.`)
  return 2
}

async function onPullRequest({ number, head }) {
  const draft = draftOf(Number(number))
  const isFork = head?.repo?.full_name !== repository
  const canPush = !isFork && env['STET_API_KEY']
  // Some organizations pass secrets to forks. The command may come from the fork.
  if (isFork) delete cliEnv['STET_API_KEY']
  if (event.action === 'closed') {
    return canPush ? stet(['versions', 'delete', draft, '--if-exists', '--yes']).code : 0
  }
  const checked = stet(['check', '--local'])
  if (!canPush) {
    const why = isFork ? 'a pull request from a fork gets no draft' : 'the API key is empty, so there is no draft'
    say('notice', `Prompts were only compiled: ${why}. Secrets are not available to forks and Dependabot.`)
    return checked.code
  }
  if (checked.code !== 0) {
    await comment(number, 'The prompts do not pass the check. The draft was not changed.', checked.out + checked.err)
    return checked.code
  }
  const pushed = stet(['push', '--for', draft, '--yes', '--json', ...deletes])
  if (pushed.code !== 0 && pushed.out === '') {
    await comment(number, 'The prompts were not sent to a draft.', refusalOf(pushed.err))
    return pushed.code
  }
  const { version, changes } = JSON.parse(pushed.out)
  // Without changes push opens no draft, and empties one that exists.
  if (changes.length === 0) {
    await comment(number, 'The prompts are the same as in live.', '', false)
    return pushed.code
  }
  const shown = stet(['versions', 'show', version.uuid, '--diff', '--no-color'])
  if (shown.code !== 0) return shown.code
  output('draft', version.uuid)
  const what = `Draft \`${draft}\` (\`${version.uuid}\`) has ${changes.length} ${changes.length === 1 ? 'change' : 'changes'}.`
  const evaluated = evaluates ? stet(['eval', '--draft', version.uuid, '--no-color']) : { code: 0, out: '', err: '' }
  const texts = [evaluated.out || (evaluated.code === 0 ? '' : evaluated.err), shown.out].filter((text) => text !== '')
  await comment(number, `${what} Merging into the default branch publishes it.`, texts.join('\n'))
  if (evaluated.code !== inconclusive) return evaluated.code || pushed.code
  say('warning', 'The examples gave no clear result.')
  return pushed.code
}

/** Several repositories and folders may share a project, and each has its own pull requests. */
function draftOf(number) {
  const place = folder === '' ? repository : `${repository}/${folder}`
  const name = `${place}#${number}`
  if (name.length <= longestName) return name
  return `${repository}/${createHash('sha256').update(folder).digest('hex').slice(0, 12)}#${number}`
}

function onPush() {
  const branch = event.repository?.default_branch
  if (env['GITHUB_REF'] !== `refs/heads/${branch}`) {
    say('notice', `Nothing was published: ${env['GITHUB_REF']} is not the default branch.`)
    return 0
  }
  if (!env['STET_API_KEY']) {
    say('error', 'The input api-key is empty. Publishing needs a key with the role ci-publish.')
    return 2
  }
  const checked = stet(['check', '--local'])
  if (checked.code !== 0) return checked.code
  return stet(['push', '--publish', '--yes', '--name', env['GITHUB_SHA'] ?? '', ...deletes]).code
}

/** Runs a command. Its messages and annotations go to the log. JSON and differences are for this script only. */
function stet(args) {
  const [program = '', ...first] = (env['STET_ACTION_COMMAND'] ?? '').split(/\s+/).filter(Boolean)
  const { status, stdout, stderr, error } = spawnSync(program, [...first, ...args], {
    env: cliEnv,
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  if (error) throw error
  if (!args.some((one) => one === '--json' || one === '--diff')) process.stdout.write(stdout)
  process.stderr.write(stderr)
  return { code: status ?? 1, out: stdout, err: stderr }
}

/** The last line of a failure with --json is its only document of this form. */
function refusalOf(text) {
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  try {
    const { message, lines = [], next } = JSON.parse(last).error
    return [message, ...lines.map((line) => `  ${line}`), ...(next ? [`Next: ${next}`] : [])].join('\n')
  } catch {
    return text
  }
}

/**
 * Writes the comment, or replaces its text. A comment that cannot be written does not fail the job, because the draft is
 * in its place.
 */
async function comment(number, sentence, text, opens = true) {
  if (env['STET_ACTION_COMMENT'] !== 'true') return
  // Each folder has a comment of its own.
  const marker = `<!-- stet ${encodeURIComponent(folder || '.').replaceAll('-', '%2D')} -->`
  const body = `${marker}\n**Prompts**: ${sentence}\n${text === '' ? '' : `\n${fenced(text)}\n`}`
  try {
    const id = await findComment(number, marker)
    if (id !== undefined) await github('PATCH', `issues/comments/${id}`, { body })
    else if (opens) await github('POST', `issues/${Number(number)}/comments`, { body })
  } catch (failure) {
    say('warning', `No comment was written: ${failure.message}. The job needs the permission pull-requests: write.`)
  }
}

/** Finds the comment of an earlier run. Anybody can write the marker, so people's comments are left alone. */
async function findComment(number, marker) {
  for (let page = 1; ; page += 1) {
    const found = await github('GET', `issues/${Number(number)}/comments?per_page=100&page=${page}`)
    const own = found.find(({ user, body }) => user?.type === 'Bot' && body?.startsWith(marker))
    if (own || found.length < 100) return own?.id
  }
}

/** Quotes a text that may have any content: the fence is longer than each run of backticks in it. */
function fenced(text) {
  const cut = text.length > longestText ? text.lastIndexOf('\n', longestText) + 1 || longestText : text.length
  const rest = cut < text.length ? `\n\nThe rest is left out: ${text.length - cut} characters.` : ''
  const shown = text.slice(0, cut).trimEnd()
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}diff\n${shown}\n${fence}${rest}`
}

async function github(method, path, body) {
  const url = `${env['GITHUB_API_URL'] ?? 'https://api.github.com'}/repos/${repository}/${path}`
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${env['STET_ACTION_TOKEN']}`,
      'x-github-api-version': '2022-11-28',
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(apiLimitMs),
  })
  if (!response.ok) throw new Error(`GitHub answered ${response.status}`)
  return response.json()
}

/** Writes a command of the workflow log. Its text must stay on one line. */
function say(level, text) {
  console.log(`::${level}::${text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`)
}

function output(name, value) {
  const file = env['GITHUB_OUTPUT']
  if (file) appendFileSync(file, `${name}=${value.replaceAll(/\s/g, '')}\n`)
}
