module.exports = (output, { config, vars }) => ({
  pass: output.length >= config.least,
  score: output.length / 10,
  reason: `${vars.answer} has ${output.length} characters`,
  componentResults: [{ pass: true, score: 1, reason: 'fine' }],
});

module.exports.isLong = (output) => output.length > 10;
