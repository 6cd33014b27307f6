/** The contrast of the colors in both themes, computed from the tokens. The flows check only what a page puts where. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Rgb = readonly [number, number, number]
interface Color {
  linear: Rgb
  alpha: number
}

const source = readFileSync(new URL('../src/ui/styles/tokens.css', import.meta.url), 'utf8')
const oklch = String.raw`oklch\(([\d.]+) ([\d.]+) ([\d.]+)(?: / ([\d.]+))?\)`
const token = new RegExp(String.raw`--([\w-]+): light-dark\(${oklch}, ${oklch}\);`, 'g')
const themes = { light: new Map<string, Color>(), dark: new Map<string, Color>() }
for (const [, name = '', ...numbers] of source.matchAll(token)) {
  themes.light.set(name, colorOf(numbers.slice(0, 4)))
  themes.dark.set(name, colorOf(numbers.slice(4)))
}

/** The transformation of Oklab, by its author: https://bottosson.github.io/posts/oklab/ */
function colorOf(parts: readonly (string | undefined)[]): Color {
  const [l = 0, c = 0, h = 0, alpha = 1] = parts.map((part) => (part === undefined ? undefined : Number(part)))
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  const clamped = (part: number) => Math.min(Math.max(part, 0), 1)
  const red = 4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z
  const green = -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z
  const blue = -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z
  return { linear: [clamped(red), clamped(green), clamped(blue)], alpha }
}

/** Browsers mix the encoded values of sRGB. */
function over({ linear, alpha }: Color, below: Rgb): Rgb {
  const mix = (at: 0 | 1 | 2) => decoded(alpha * encoded(linear[at]) + (1 - alpha) * encoded(below[at]))
  return [mix(0), mix(1), mix(2)]
}

const encoded = (part: number) => (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055)
const decoded = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b

function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const grounds = ['paper', 'sheet', 'sunk']
const washes = ['hover', 'chosen', 'blue-wash', 'red-wash', 'green-wash', 'amber-wash']
const ownWash = ['blue', 'red', 'green', 'amber'].map((name) => [name, `${name}-wash`] as const)

/** Text, what is directly below it, and the least contrast. Everything below is on each of the grounds. */
const pairs: readonly (readonly [string, string | null, number])[] = [
  ...['ink', 'ink-2', 'blue', 'blue-deep', 'red', 'green', 'amber'].map((name) => [name, null, 4.5] as const),
  ...washes.flatMap((wash) => ['ink', 'ink-2'].map((name) => [name, wash, 4.5] as const)),
  ...ownWash.map(([name, wash]) => [name, wash, 4.5] as const),
  ...['blue', 'blue-deep'].map((name) => ['on-blue', name, 4.5] as const),
  ['paper', 'ink', 4.5],
  ['edge', null, 3],
]

test.each(['light', 'dark'] as const)(
  'in the %s theme, text and edges have enough contrast on what is below them',
  (theme) => {
    const color = (name: string) => themes[theme].get(name) ?? expect.fail(`no token --${name}`)
    const tooLow = grounds.flatMap((ground) =>
      pairs.flatMap(([name, between, least]) => {
        const below = between === null ? color(ground).linear : over(color(between), color(ground).linear)
        const found = contrast(over(color(name), below), below)
        return found < least ? [`--${name} on --${between ?? ground} over --${ground}: ${found.toFixed(2)}`] : []
      }),
    )
    expect(tooLow).toEqual([])
  },
)

test('the computed contrast is that of known colors', () => {
  const white = colorOf(['1', '0', '0']).linear
  const black = colorOf(['0', '0', '0']).linear
  expect(contrast(white, black)).toBeCloseTo(21, 1)
  const red = colorOf(['0.62796', '0.25768', '29.2339']).linear
  expect(red.map((part) => Math.round(encoded(part) * 255))).toEqual([255, 0, 0])
  expect(contrast(white, red)).toBeCloseTo(4, 1)
})
