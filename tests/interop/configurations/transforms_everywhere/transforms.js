module.exports = (output) => output.trim().toLowerCase();
module.exports.second = (output) => output.split(";")[1].toLowerCase();
