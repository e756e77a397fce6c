module.exports = (namedScores, { threshold = 0.5 }) => {
  const score = 0.8 * (namedScores.quality || 0) + 0.2 * (namedScores.brevity || 0);
  return { pass: score >= threshold, score, reason: `combined ${score}` };
};

module.exports.strict = (namedScores, { componentResults }) => ({
  pass: componentResults.every((each) => each.pass),
  score: componentResults.length / 10,
  reason: "strict",
});
