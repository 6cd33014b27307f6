import './style.css'

// The default theme would ship a font of 900 KB.
export { default } from 'vitepress/theme-without-fonts'
