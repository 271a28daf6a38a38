#!/usr/bin/env node
import '@tapline/headless/command'
